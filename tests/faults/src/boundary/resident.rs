//! The resident host: killed, stopped, and whatever may be in its socket's place. Each hook judges without it then.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::listeners::{self, Listener};
use super::{Fault, fault};
use crate::Error;
use crate::call::Kind;
use crate::process::Beside;
use crate::spoil;
use crate::trial::Trial;
use crate::world::{World, other_user, words_command};

type Plant = fn(&Path) -> io::Result<()>;

/// What may be in the socket's place.
const PLANTS: [(&str, Plant); 5] = [
    ("a file", |socket| fs::write(socket, "")),
    ("a folder", |socket| fs::create_dir_all(socket.join("below"))),
    ("a pipe", spoil::pipe),
    ("a link to nothing", |socket| symlink("/nonexistent/socket", socket)),
    ("a link to itself", |socket| symlink(socket, socket)),
];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = vec![
        fault("killed before a call", |trial| {
            let (host, _) = ready(trial)?;
            drop(host);
            trial.calls()?;
            trial.until_resident()
        }),
        fault("killed during calls", |trial| {
            let (host, _) = ready(trial)?;
            trial.while_calls(|_| host.signal(Signal::KILL))?;
            trial.until_resident()
        }),
        fault("stopped before a call", |trial| {
            let (host, _) = ready(trial)?;
            host.signal(Signal::STOP)?;
            trial.calls()?;
            host.signal(Signal::CONT)
        }),
        fault("stopped during calls", |trial| {
            let (host, _) = ready(trial)?;
            trial.while_calls(|_| host.signal(Signal::STOP))?;
            host.signal(Signal::CONT)
        }),
        fault("another one is started", |trial| {
            let (_host, _) = ready(trial)?;
            trial.while_calls(|world| match host(world, &world.program) {
                Err(Error::Unexpected(why)) if why.contains("already running") => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Err(Error::Unexpected("two hosts listen".to_owned())),
            })
        }),
        fault("another build of the program answers in its place", |trial| {
            let socket = gone(trial)?;
            let other = trial.world.copy("other")?;
            let (_other, elsewhere) = self::host(&trial.world, &other)?;
            trial.each(|_| {
                spoil::remove(&socket)?;
                Ok(symlink(&elsewhere, &socket)?)
            })?;
            Ok(spoil::remove(&socket)?)
        }),
        fault("it has nearly no file descriptors", |trial| {
            let mut command = Command::new("prlimit");
            command.arg("--nofile=7").arg(&trial.world.program).arg("serve");
            let (_host, _) = Beside::host(of(&trial.world, command))?;
            resident(trial);
            trial.while_calls(|_| Ok(()))
        }),
        fault("another user asks it", |trial| {
            let words = as_another(trial)?;
            let command = words_command(&[words, vec![trial.world.program.clone().into(), "serve".into()]].concat());
            let (_host, socket) = Beside::host(of(&trial.world, command))?;
            resident(trial);
            trial.until_resident()?;
            refuses(&socket)?;
            trial.calls()
        }),
        fault("another user's answers in its place", |trial| {
            let socket = gone(trial)?;
            let (user, words) = another()?;
            // All is as it would be, but for whose it is.
            fs::remove_dir_all(folder(&socket))?;
            fs::create_dir(folder(&socket))?;
            fs::set_permissions(trial.world.at("run"), Permissions::from_mode(0o711))?;
            fs::set_permissions(folder(&socket), Permissions::from_mode(0o700))?;
            chown(folder(&socket), Some(user), None)?;
            let command = words_command(&[words, vec![trial.world.program.clone().into(), "serve".into()]].concat());
            let (_host, theirs) = Beside::host(of(&trial.world, command))?;
            chown(folder(&socket), Some(rustix::process::getuid().as_raw()), None)?;
            if theirs != socket {
                return Err(Error::Unexpected(format!("it listens at {}", theirs.display())));
            }
            trial.call_with(|hook| hook.with("TOOLGATE_LOG", "debug"));
            let said = trial.call(Kind::Destructive, "rm -rf ~")?;
            if said.text.contains("evaluated by the resident host") {
                return Err(Error::Unexpected("another user's host is believed".to_owned()));
            }
            trial.calls()
        }),
        fault("the folder of sockets is removed during calls", |trial| {
            let (_host, socket) = ready(trial)?;
            trial.while_calls(|_| Ok(fs::remove_dir_all(folder(&socket))?))
        }),
        fault("the folder of sockets is a file", |trial| {
            let (host, socket) = ready(trial)?;
            drop(host);
            fs::remove_dir_all(folder(&socket))?;
            fs::write(folder(&socket), "")?;
            trial.calls()?;
            fs::remove_file(folder(&socket))?;
            trial.until_resident()
        }),
        fault("the folder of sockets is open to everyone", |trial| {
            let (host, socket) = ready(trial)?;
            drop(host);
            spoil::remove(&socket)?;
            fs::set_permissions(folder(&socket), Permissions::from_mode(0o777))?;
            trial.calls()?;
            fs::set_permissions(folder(&socket), Permissions::from_mode(0o700))?;
            trial.until_resident()
        }),
    ];
    all.extend(PLANTS.map(|(what, plant)| {
        fault(format!("in its place is {what}"), move |trial| {
            let socket = gone(trial)?;
            trial.each(|_| {
                spoil::remove(&socket)?;
                Ok(plant(&socket)?)
            })?;
            Ok(spoil::remove(&socket)?)
        })
    }));
    all.extend(listeners::ALL.map(|(what, greet)| {
        fault(format!("in its place somebody listens who {what}"), move |trial| {
            let socket = gone(trial)?;
            let mut listener = None;
            trial.each(|_| {
                listener.replace(Listener::at(&socket, greet)?);
                Ok(())
            })?;
            Ok(spoil::remove(&socket)?)
        })
    }));
    all
}

/// A resident host that hooks are judged by, and its socket.
pub(super) fn ready(trial: &mut Trial) -> Result<(Beside, PathBuf), Error> {
    if !cfg!(target_os = "linux") {
        return Err(Error::LeftOut("there are resident hosts on Linux only".to_owned()));
    }
    let ready = host(&trial.world, &trial.world.program)?;
    resident(trial);
    trial.until_resident()?;
    Ok(ready)
}

/// The socket of a resident host that is not there any more. An attempt to start one was made a moment ago, so that no hook
/// makes another.
fn gone(trial: &mut Trial) -> Result<PathBuf, Error> {
    let (_host, socket) = ready(trial)?;
    fs::write(socket.with_extension("start"), "")?;
    Ok(socket)
}

/// Another user, as far as this one can be another.
fn another() -> Result<(u32, Vec<OsString>), Error> {
    if !rustix::process::getuid().is_root() {
        return Err(Error::LeftOut("only root can be another user".to_owned()));
    }
    Ok(other_user())
}

/// Has the whole trial be another user's.
pub(super) fn as_another(trial: &mut Trial) -> Result<Vec<OsString>, Error> {
    another()?;
    let words = trial.world.without_root()?;
    let through: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    trial.always(|hook| hook.through(&through));
    Ok(words)
}

/// Whoever listens has to hang up on this user, whatever is sent, and say nothing.
pub(super) fn refuses(socket: &Path) -> Result<(), Error> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    // It may have hung up already.
    let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{}}\n");
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error.into()),
        _ if !said.is_empty() => Err(Error::Unexpected(format!("it says {}", String::from_utf8_lossy(&said)))),
        _ => Ok(()),
    }
}

/// Has hooks ask a resident host.
fn resident(trial: &mut Trial) {
    trial.always(|hook| hook.with("TOOLGATE_NO_SERVE", ""));
}

fn host(world: &World, program: &Path) -> Result<(Beside, PathBuf), Error> {
    let mut command = Command::new(program);
    command.arg("serve");
    Beside::host(of(world, command))
}

fn of(world: &World, mut command: Command) -> Command {
    command.env_clear().envs(world.variables()).env("TOOLGATE_NO_SERVE", "").current_dir(world.project());
    command
}

fn folder(socket: &Path) -> &Path {
    socket.parent().unwrap_or(socket)
}
