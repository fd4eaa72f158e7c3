"""The bill of materials: CycloneDX as JSON, the same bytes for the same build.

Its time is that of the commit, and it has no serial number, which would be random. Crates whose code is in the program have
the scope `required`, crates that only run while it is built `excluded`.
"""

import datetime
import hashlib
import re
from pathlib import Path

from product import NAME, as_json, output

BANNER = re.compile(rb"GNU C Library \(([^)]*)\) stable release version ([0-9.]*[0-9])")


def _crate(crates, crate):
    package = crates.packages[crate]
    name, version = package["name"], package["version"]
    component = {
        "type": "library",
        "bom-ref": _reference(crates, crate),
        "name": name,
        "version": version,
        "scope": "required" if crate in crates.linked else "excluded",
    }
    checksum = crates.checksum(crate)
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    component["licenses"] = [{"expression": crates.licence(crate)}]
    if not crates.is_own(crate):
        component["purl"] = f"pkg:cargo/{name}@{version}"
    return component


def _reference(crates, crate):
    package = crates.packages[crate]
    return f"{package['name']}@{package['version']}"


def _c_library():
    """The C library in a static program, as the compiler finds it."""
    archive = Path(output("cc", "-print-file-name=libc.a").strip())
    found = BANNER.search(archive.read_bytes())
    return {
        "type": "library",
        "bom-ref": "glibc",
        "name": "glibc",
        **({"version": found[2].decode(), "description": found[1].decode()} if found else {}),
        "scope": "required",
        "licenses": [{"expression": "LGPL-2.1-or-later"}],
    }


def package(build):
    crates = build.crates
    main = build.about["id"]
    others = sorted((crates.linked | crates.build_only) - {main}, key=crates.sort_key)
    components = [_crate(crates, crate) for crate in others]
    dependencies = {_reference(crates, one): crates.dependencies(one) for one in [main, *others]}
    dependencies = {name: sorted({_reference(crates, one) for one in needs}) for name, needs in dependencies.items()}
    # The build of this crate compiles the guard, which cargo does not see.
    guard = crates.own("toolgate-guest")["id"]
    dependencies[_reference(crates, crates.own("toolgate-builtin")["id"])].append(_reference(crates, guard))
    if build.platform.is_linux and build.needs.is_static:
        components.append(_c_library())
        dependencies[_reference(crates, main)].append("glibc")
        dependencies["glibc"] = []
    time = datetime.datetime.fromtimestamp(build.time, datetime.timezone.utc)
    program = {
        "type": "application",
        "bom-ref": _reference(crates, main),
        "name": NAME,
        "version": build.version,
        "description": build.description,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(build.executable.data).hexdigest()}],
        "licenses": [{"expression": build.licence}],
        "externalReferences": [{"type": "vcs", "url": build.repository}],
    }
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": needs} for name, needs in dependencies.items()],
    }
    return {f"{NAME}-{build.version}-{build.platform.target}.cdx.json": as_json(document)}
