"""The npm packages: `toolgate` is a small script, and a package for each platform has the program.

The script's package names all of these as optional dependencies. Package managers install the one whose `os`, `cpu` and
`libc` fit. No installation script runs.
"""

from pathlib import Path

import packed
from product import NAME, PLATFORMS, Entry, as_json, npm_name

LAUNCHER = Path(__file__).parent / "launcher.js"


def _manifest(product, name, **more):
    return {
        "name": name,
        "version": product.version,
        "description": product.description,
        "license": product.licence,
        "homepage": product.repository,
        "repository": {"type": "git", "url": f"git+{product.repository}.git"},
        **more,
    }


def main_manifest(product):
    packages = {npm_name(platform): product.version for platform in PLATFORMS}
    return _manifest(
        product,
        NAME,
        keywords=["ai-agent", "claude-code", "hooks", "security"],
        bin={NAME: f"bin/{NAME}.js"},
        engines={"node": ">=18"},
        optionalDependencies=packages,
    )


def platform_manifest(product, platform, needs):
    system, processor = platform.npm.split("-")
    libc = {"libc": ["glibc"]} if needs.glibc else {}
    # Yarn would keep the program in an archive, from which it cannot be run.
    return _manifest(product, npm_name(platform), os=[system], cpu=[processor], **libc, preferUnplugged=True)


def _packed(product, manifest, files):
    files = {"package.json": Entry(as_json(manifest)), "README.md": product.readme} | files
    data = packed.tar_gz({f"package/{path}": entry for path, entry in files.items()}, product.time)
    # The name that `npm pack` gives.
    return {f"{manifest['name'].lstrip('@').replace('/', '-')}-{product.version}.tgz": data}


def main_package(product):
    launcher = Entry(LAUNCHER.read_bytes(), executable=True)
    return _packed(product, main_manifest(product), product.licence_files | {f"bin/{NAME}.js": launcher})


def platform_package(build):
    manifest = platform_manifest(build, build.platform, build.needs)
    return _packed(build, manifest, build.notices | {f"bin/{NAME}": build.executable})
