# Hand-written scripts for the ground truth, one construct each. A line that begins with four number signs and a blank
# opens one. They are data: run only inside the sandbox, and they name relative paths of the scratch tree (or $HOME).

#### quotes: concatenation
touch a'b c'"d e"\ f
#### quotes: ANSI C
touch $'tab\there' $'\x41\u00e9' $'q\'q'
#### quotes: locale string
touch $"local"
#### quotes: backslash newline
touch one\
two three
#### quotes: dollar and backslash in double quotes
touch "a\$b" "c\\d" "e\f"
#### IFS: splitting of a value
list='a:b c:d'; IFS=:; touch $list
#### IFS: quoted is not split
x='a b'; touch "$x" $x
#### IFS: word made of IFS
touch x${IFS:0:1}y
#### IFS: empty
x='a b'; IFS=; touch $x
#### braces: nested and ranges
touch {a,b{1,2}} {z..x} {1..7..3} {a}{b,c}
#### braces: quoted ones stay
touch '{a,b}' "{c,d}" {e
#### braces: with variables
x=1; touch {$x,y}$x
#### tilde: after colon and equals
p=~/bin:~/lib; touch ~/t; touch "${p%%:*}/u" a=~
#### tilde: quoted stays
mkdir '~' && touch '~/x' ~/y
#### expansion: defaults
unset u; touch ${u-d1} ${u:-d2} "${u:+no}x" ${u+no2}z; e=; touch ${e-}e1 ${e:-d3}
#### expansion: assign default
touch ${new:=made}; touch $new.2
#### expansion: error ends the shell
echo ${u:?missing} ; touch never
#### expansion: substrings
s=abcdef; touch ${s:1:2} ${s: -2} ${s:2:-1} ${s:0:1}
#### expansion: prefix and suffix
p=a/b.tar.gz; touch ${p##*/} ${p%%.*}x ${p#*.}y 2>/dev/null; touch ${p##*.}
#### expansion: replacement
s=banana; touch ${s/a/o} ${s//a/o} ${s/#b/c} ${s/%a/e} ${s//n}
#### expansion: case
s='aBc'; touch ${s^} ${s^^} ${s,,} ${s~~}
#### expansion: length and indirect
name=val; val=deep; touch ${#val} ${!name} ; for n in ${!na*}; do touch "n-$n"; done
#### expansion: transformations
s='a b'; touch "${s@Q}" "${s@U}"
#### expansion: nested
a=1; touch ${b:-${a:-x}y}
#### arithmetic: forms
touch $((2**3)) $((0x10)) $((7/2)) $((7%4)) $((1<<3)) $((5>3?1:2)); ((k=4, k+=2)); touch k$k
#### arithmetic: variables
i=3; touch $((i++)) $((i)) $((--i)); let j=i*2; touch j$j
#### arithmetic: base
touch n$((2#101)) n$((16#ff)) m$((010))
#### arrays: all forms
a=(x 'y z' [5]=w); touch "${a[@]}"; touch "${#a[@]}" "${!a[*]}"; a+=(v); touch "${a[-1]}.last"
#### arrays: slices and unset
a=(p q r s); touch "${a[@]:1:2}"; unset 'a[0]'; touch n${#a[@]}
#### arrays: associative
declare -A m=([k]=v [l]=w); touch "${m[k]}" ; for k in "${!m[@]}"; do touch "key-$k"; done
#### substitution: nested and trimmed
touch "$(echo "$(printf 'in\n\n')")"
#### substitution: splits when bare
touch $(echo p q) "$(echo r s)"
#### substitution: its cd stays inside
x=$(cd dir && pwd); touch "$x/abs" rel
#### substitution: file content
touch "$(<list)"
#### substitution: known tools
touch "$(basename dir/one.txt .txt)" "$(dirname dir/one.txt)-d" "$(echo aGk= | base64 -d)"
#### substitution: exit status
x=$(false) || touch failed; local_x=$(true) && touch fine
#### positional: set and shift
set -- a 'b c' d; touch "$2" "$#"; shift 2; touch "$1-$#"
#### positional: all of them
set -- a 'b c'; touch "$@"; touch "$*"; for x; do touch "x-$x"; done
#### globs: several
rm *.txt; touch done
#### globs: no match stays
touch *.none; ls
#### globs: hidden and folders
cp .h* bare; ls */
#### globs: star in a variable
g='*.md'; rm $g; touch "$g"
#### globs: extended
shopt -s extglob
rm -f !(a).txt; touch +(x)
#### cd: into a link and out
cd link && touch in-link && cd .. && touch out
#### cd: physical
cd -P link && cd .. && touch phys
#### cd: dash
cd dir; cd -; touch back; cd - && touch again
#### cd: no argument and OLDPWD
cd; touch at-home; cd "$OLDPWD"; touch at-work
#### cd: failing
cd nowhere; touch still; cd nowhere && touch never
#### cd: relative chain
cd dir/sub && cd .. && cd ../bare && touch c
#### cd: CDPATH
CDPATH=dir; cd sub; touch via-cdpath
#### pushd: stack
pushd dir; pushd sub; touch s; popd; touch d; popd; touch w
#### pushd: swap and rotate
pushd dir >/dev/null; pushd >/dev/null; touch swapped; pushd +1; touch rotated; dirs -c
#### cd: in a subshell and a group
(cd dir; touch a1); touch a2; { cd dir; touch a3; }; touch a4
#### cd: in a pipeline
cd dir | cat; touch stays; echo | cd dir; touch stays2
#### cd: in the background
cd dir & wait; touch stays
#### cd: after or
cd nowhere 2>/dev/null || cd dir; touch x
#### cd: and-or chains
true && cd dir || cd bare; touch x; false && cd sub || touch y
#### PWD is used
touch "$PWD/abs"; cd dir; touch "$PWD/abs2" "${OLDPWD}/abs3"
#### redirect: all output forms
echo a > o1; echo b >> o1; echo c >| o1; echo d &> o2; echo e &>> o2; echo f 1> o3 2> o4; ls nowhere > o5 2>&1
#### redirect: before the command
> first echo x; < a.txt > second cat
#### redirect: only
> made; >> made2; : > made3; < a.txt
#### redirect: numbered
exec 3> three 4>> four; echo x >&3; echo y >&4; exec 3>&- 4>&-; touch after
#### redirect: named descriptor
exec {fd}> named; echo x >&$fd; exec {fd}>&-
#### redirect: read and write
exec 5<> a.txt; read -r x <&5; exec 5>&-; touch "$x"
#### redirect: on groups and loops
{ echo a; echo b; } > grp; for i in 1 2; do echo $i; done > loop; if true; then echo c; fi >> grp; (echo d) > sub
#### redirect: to a variable name
o=va; echo x > $o; echo y > "$o 2"; echo z > ${o}3
#### redirect: failing one stops its command
touch never > nodir/x; touch next
#### redirect: noclobber
set -C; echo x > a.txt; echo y >| b.txt; echo z > fresh
#### redirect: duplicates
echo x 2>&1 >f1; echo y >f2 2>&1 >f3; exec 2>errs; ls nowhere
#### heredoc: expanded
x=val; cat > h <<EOT
$x $(touch from-heredoc)
EOT
#### heredoc: literal
cat > h <<'EOT'
$x $(touch never) `touch never2`
EOT
#### heredoc: tabs
	cat > h <<-EOT
	indented
	EOT
touch after
#### heredoc: to a shell
bash <<'EOT'
cd dir
touch from-stdin
EOT
touch outer
#### heredoc: two at once
cat <<A > f1; cat <<B > f2
one
A
two
B
#### here-string: read
read -r a b <<< "one two three"; touch "$a" "$b"
#### here-string: shell
bash <<< 'touch hs'
#### pipe: into a shell
echo 'touch p1; cd dir; touch p2' | bash; touch p3
#### pipe: status
false | true && touch a1; set -o pipefail; false | true || touch a2; ! true | false && touch a3
#### pipe: with stderr
ls nowhere |& tee log > /dev/null
#### pipe: lastpipe off
echo v | read x; touch "x$x"
#### pipe: while read
printf '%s\n' a 'b c' | while read -r l; do touch "$l"; done
#### process substitution: both ways
diff <(echo a) <(echo b) > d; echo x | tee >(cat > tee-out) > /dev/null; sleep 0.05
#### if: elif chain
if [ -f nowhere ]; then touch a1; elif [[ -d dir && -f a.txt ]]; then touch a2; else touch a3; fi
#### if: condition has effects
if cd dir && touch c1; then touch c2; fi; touch c3
#### while: break and continue
i=0; while true; do i=$((i+1)); [ $i = 2 ] && continue; [ $i = 4 ] && break; touch w$i; done; touch end$i
#### while: nested break 2
for a in 1 2; do for b in x y; do touch $a$b; break 2; done; done
#### until
n=3; until [ $n -eq 0 ]; do touch u$n; n=$((n-1)); done
#### for: arithmetic with empty parts
i=0; for ((;;)); do ((i++ > 1)) && break; touch z$i; done
#### for: over nothing
for x in $unset_var; do touch never; done; touch "x${x-unset}"
#### for: variable stays
for x in a b; do :; done; touch $x
#### case: patterns and fallthrough
x=foo.txt; case $x in *.md) touch c1;; *.txt) touch c2;;& foo*) touch c3;& bar) touch c4;; *) touch c5;; esac
#### case: nothing matches
case zzz in a) touch never;; esac && touch ok
#### select
select c in red green; do touch "$c-$REPLY"; break; done <<< 2
#### function: arguments and locals
f() { local v=$1; touch "in-$v"; }; v=out; f arg; touch "$v"
#### function: cd stays
go() { cd "$1"; }; go dir; touch here
#### function: subshell body
f() ( cd dir; v=inner; touch a ); v=outer; f; touch "$v"
#### function: return codes
f() { return 3; touch never; }; f; touch "r$?"; f || touch or
#### function: recursion
f() { [ $1 -gt 0 ] || return 0; touch "d$1"; f $(($1-1)); }; f 3
#### function: redefined and unset
f() { touch one; }; f; f() { touch two; }; f; unset -f f; f || touch gone
#### function: overrides a program
touch() { command touch "pre-$1"; }; touch x; unset -f touch; touch y
#### function: keyword and redirect
function g { echo out; } > gout; g
#### function: local shadows export
export E=1; f() { local E=2; env > env-in; touch "e$E"; }; f; touch "e$E"
#### function: dynamic scope
outer() { local v=o; inner; touch "$v"; }; inner() { v=changed; }; v=g; outer; touch "$v"
#### export: to a child
a=1; bash -c 'touch "a${a-none}"'; export a; bash -c 'touch "b${a-none}"'
#### export: -n and unset
export a=1; export -n a; sh -c 'touch "c${a-none}"'; unset a; touch "d${a-none}"
#### prefix assignment: for a program only
X=1 sh -c 'touch "x$X"'; touch "after${X-none}"
#### prefix assignment: expansion is before
X=old; X=new touch "$X"
#### prefix assignment: special builtin
X=1 eval 'touch "e$X"'; touch "f${X-none}"
#### declare: attributes
declare -i n=2+3; declare -u u=abc; declare -l l=ABC; declare -r r=ro; touch $n $u $l $r; r=x; touch never
#### declare: nameref
declare -n ref=target; ref=through; touch $target; f() { local -n out=$1; out=set; }; f res; touch "$res"
#### declare: -g in a function
f() { declare -g gl=1; declare lo=2; }; f; touch "g${gl-}" "l${lo-none}"
#### printf -v, read, mapfile
printf -v x '%02d-%s' 7 seven; touch "$x"; mapfile -t lines < list; touch "m-${lines[1]}"; IFS=, read -r a b < data.csv; touch "r-$b"
#### getopts
set -- -a -o val rest; while getopts ao: opt; do touch "opt-$opt-${OPTARG-}"; done; shift $((OPTIND-1)); touch "$1"
#### getopts: the end of the options
set -- -a -- -rest; OPTARG=old; while getopts a opt; do touch "a${OPTARG-none}"; done; touch "b${OPTARG-none}"; shift $((OPTIND-1)); touch -- "$1"
#### getopts: what is not meant
getopts :ao: opt -z; touch "c$opt${OPTARG-none}"; OPTIND=1; getopts ao: opt -z; touch "d$opt${OPTARG-none}"
#### set -e: stops
set -e; touch a1; false; touch never
#### set -e: conditions do not stop
set -e; false || touch a1; if false; then :; fi; ! true; touch a2; false && true; touch a3
#### set -e: in a subshell
(set -e; false; touch never) || touch sub; touch on
#### set -u: ends the shell
set -u; touch a1; touch "$nothing"; touch never
#### set -f
set -f; touch *.txt; set +f; ls *.txt
#### exit: in the middle
touch a1; exit 2; touch never
#### exit: in a subshell and a substitution
(exit 3); touch "s$?"; x=$(exit 4); touch "t$?"
#### trap: exit
trap 'touch bye' EXIT; touch hello; exit 1
#### trap: exit with the folder at the end
trap 'touch "$PWD/last"' EXIT; cd dir
#### trap: ERR
trap 'touch err' ERR; false; touch after
#### trap: removed
trap 'touch never' EXIT; trap - EXIT; touch x
#### trap: signal to itself
trap 'touch usr1' USR1; kill -USR1 $$; touch after
#### eval: joined and quoted
cmd='touch "a b"'; eval "$cmd"; eval touch \$HOME/ev; eval 'cd dir'; touch here
#### source: with arguments
echo 'touch "s-$1"; cd dir' > src.sh; . ./src.sh arg; touch here
#### source: defines
. ./lib.sh; lib_touch made; touch "$lib_dir/by-var"
#### source: process substitution
source <(echo 'touch ps; v=set'); touch "$v"
#### command and builtin
command touch c1; builtin cd dir; touch c2; command -v touch > which; \touch c3
#### exec: replaces
touch a1; exec touch a2; touch never
#### exec: in a subshell
(exec touch a1); touch a2
#### env: options
env -u HOME -C dir A=1 sh -c 'touch "e$A${HOME-none}"'; env -S 'touch s1 s2'; env -i /usr/bin/touch i
#### nice, nohup, timeout, setsid, stdbuf
nice -n 3 nohup timeout -s KILL 5 setsid -w stdbuf -o0 touch deep 2> /dev/null
#### sh -c: arguments
sh -c 'touch "$0" "$1" "$#"' zero one two; bash -c 'for a; do touch "a-$a"; done' _ x 'y z'
#### bash: clustered options
bash -ec 'touch e1; false; touch never'; bash -uxc 'touch "${no-x1}"' 2> trace; bash -O extglob -c 'touch o1'
#### bash: script with arguments
bash run.sh one; ./run.sh two; sh ./run.sh three
#### shell nested in shell
sh -c "bash -c 'touch \"n1\"; cd dir && sh -c \"touch n2\"'; touch n3"
#### xargs: forms
echo a b | xargs touch; printf '%s\n' c 'd e' | xargs -d '\n' touch; echo x | xargs -I% cp a.txt %.copy; printf 'p\0q r\0' | xargs -0 -n1 touch
#### xargs: quotes and empty
echo "'a b' c\\ d" | xargs touch; true | xargs -r touch never; xargs -a list cat
#### xargs: shell
echo f1 f2 | xargs -n1 sh -c 'touch "$0.x"'
#### find: exec, execdir, delete
find dir -name '*.txt' -exec cp {} bare \; ; find dir -type f -execdir touch ./seen \; ; find bare -type f -delete; find . -maxdepth 1 -name '*.md' -exec sh -c 'touch "$1.seen"' _ {} \;
#### cp, mv, ln, install
cp -r dir copy; cp -r dir bare; cp a.txt b.txt bare/; cp -T a.txt t1; mv b.txt moved; mv moved bare; mv dir renamed; ln a.txt hard; ln -s a.txt soft; ln -sfn bare link; install -D -m 755 c.md deep/er/c.md
#### rm: forms
rm a.txt; rm -rf dir 'my dir'; rm -f nowhere; rm nowhere; rm -- list; rmdir bare; rm link a-link
#### through a link
cd link; rm one.txt; cd ..; touch link/new; rm -r link/sub; cp a.txt a-link.copy; echo x > a-link; rm link/
#### move a folder, then use it
mv dir moved && touch moved/after && cd moved && touch in && mv sub ../up && touch ../up/x
#### write then read back
echo 'touch second' > gen.sh; chmod +x gen.sh; bash gen.sh; ./gen.sh
#### in-place editors
sed -i 's/alpha/ALPHA/' a.txt; sed -i.orig 1d b.txt; sed -n 'w copied' c.md; sort -o b.txt b.txt; sort b.txt > b2 && mv b2 b.txt
#### awk that writes
awk '{ print $1 > "awk-" NR }' list; awk 'BEGIN { print "x" > "awk-out" }'
#### tee, dd, truncate, split, tar
echo x | tee t1 t2 | tee -a t1 > /dev/null; dd if=a.txt of=dd.out bs=1 count=2 2> /dev/null; truncate -s 0 b.txt; split -l 1 list s-; tar cf x.tar dir; tar xf x.tar -C bare; tar tf x.tar
#### chmod, mkdir, mktemp (its names differ from run to run)
chmod 600 a.txt; chmod -R g+w dir; mkdir -p p/q/r; mkdir -m 700 m; d=$(mktemp -d ./tmp.XXXXXX); touch "$d/x"; f=$(mktemp -p .); rm "$f"
#### time, negation, braces on one line
time touch t1; ! touch t2 || touch t3; { touch t4; } && (touch t5)
#### comments and odd separators
touch a1 # touch never
touch a2 ;# nothing
: touch never2
#### background and wait
touch b1 & p=$!; wait $p && touch b2; (sleep 0.01; touch b3) & wait
#### coproc
coproc { read -r x; touch "co-$x"; }; echo in >&"${COPROC[1]}"; wait; touch after
#### alias is off in scripts
alias t=touch; t x || touch y
#### unicode and dashes
touch 'grüße.txt' -- -dash ./--; rm -- -dash
#### test forms
[ a = a ] && touch a1; [ ! -e nowhere ] && touch a2; [[ foo == f* ]] && touch a3; [[ abc =~ ^a(.)c$ ]] && touch "m-${BASH_REMATCH[1]}"; [[ -n $u || 1 -lt 2 ]] && touch a4; test 1 -gt 2 || touch a5
#### subshell keeps its variables
v=1; (v=2; touch "in$v"); touch "out$v"; echo | v=3; touch "still$v"
