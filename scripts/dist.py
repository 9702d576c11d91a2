"""Make what is installed without a compiler, in target/dist: packages, a command of one file, and their checksums.

Everything is built by the same compiler for old and other systems, with zig as the linker. A part whose target the
toolchain does not have is skipped, and the last lines say so; a tool that is missing is an error before anything is
built.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
DIST = ROOT / "target" / "dist"
#: What is put together for a package: its manual pages, completions and links. The manifest of the command names it.
STAGE = ROOT / "dist"
#: The oldest C library on which the programs run that use one: that of RHEL 8 and Debian 10.
GLIBC = "2.28"
COMMAND = "maquette-command-line"
LIBRARIES = ("libmaquette_trace.so", "libmaquette_mpi_collectives.so")
#: How each tool is installed.
TOOLS = {
    "cargo": "install Rust from https://rustup.rs",
    "maturin": "pip install maturin",
    "cargo-zigbuild": "pip install cargo-zigbuild ziglang",
    "cargo-deb": "cargo install --locked cargo-deb",
    "cargo-cyclonedx": "cargo install --locked cargo-cyclonedx",
}
#: Any one of these makes images of containers.
BUILDERS = ("podman", "buildah", "docker")


class Failed(Exception):
    """Why a part is not there, for who asked for it."""


@dataclass(frozen=True)
class Build:
    """How everything is built."""

    #: The profile of cargo, and the folder that it builds into.
    profile: str
    version: str

    @property
    def folder(self) -> str:
        """The folder of this profile within that of a target."""
        return "debug" if self.profile == "dev" else self.profile


@dataclass(frozen=True)
class Part:
    """Something that is made."""

    name: str
    #: A line that explains it.
    about: str
    #: The tools that make it.
    tools: tuple[str, ...]
    #: The target of the compiler that it needs, if that may not be there.
    target: str | None
    make: Callable[[Build], None]

    def is_missing(self) -> str | None:
        """Why it can't be made by this toolchain, if it can't."""
        if self.target is not None and not has_target(self.target):
            return f"the toolchain can't build for {self.target}: `rustup target add {self.target}`"
        if self.name == "container" and builder() is None:
            return f"none of {', '.join(BUILDERS)} works here, which make it from packaging/Containerfile"
        return None


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> None:
    """Run a command to its end."""
    words = [str(word) for word in command]
    print("+", " ".join(words), flush=True)
    if subprocess.run(words, cwd=cwd, env={**os.environ, **variables}, check=False).returncode != 0:
        raise Failed(f"`{' '.join(words)}` failed")


def output(*command: str | Path) -> str:
    """What a command prints."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command))}` failed: {done.stderr.strip()}")
    return done.stdout


def has_target(target: str) -> bool:
    """Whether the toolchain has the standard library of a target."""
    return Path(output("rustc", "--print", "target-libdir", "--target", target).strip()).is_dir()


def fails(*command: str) -> bool:
    """Whether a command does not end well; it prints nothing."""
    return subprocess.run(command, check=False, capture_output=True).returncode != 0


def builder() -> str | None:
    """The program that makes images of containers, if one is installed and has what it needs."""

    def works(name: str) -> bool:
        # Docker's own part may be there without the daemon that does the work.
        return shutil.which(name) is not None and not fails(name, "info")

    return next((name for name in BUILDERS if works(name)), None)


def built(build: Build, target: str, *packages: str) -> Path:
    """Build packages for a target, and return the folder with what they have become."""
    with_glibc = f"{target}.{GLIBC}" if target.endswith("-gnu") else target
    chosen = [word for package in packages for word in ("--package", package)]
    run("cargo", "zigbuild", "--locked", "--profile", build.profile, "--target", with_glibc, *chosen)
    return BUILT / target / build.folder


def sdist(_: Build) -> None:
    """The sources, from which pip builds the package where there is no wheel."""
    run("maturin", "sdist", "--out", DIST)


def wheel(target: str) -> Callable[[Build], None]:
    """The package for Python, of any version from 3.11 on, with the libraries that it preloads into MPI programs."""

    def make(build: Build) -> None:
        libraries = built(build, target, "maquette-mpi-trace", "maquette-mpi-collectives")
        package = ROOT / "python" / "maquette"
        # What a developer has there is of this computer, and stays.
        own = {name: (package / name).read_bytes() for name in LIBRARIES if (package / name).exists()}
        try:
            for name in LIBRARIES:
                shutil.copy(libraries / name, package / name)
            compatibility = f"manylinux_{GLIBC.replace('.', '_')}"
            run("maturin", "build", "--locked", "--profile", build.profile, "--zig", "--target", target,
                "--compatibility", compatibility, "--out", DIST)
        finally:
            for name in LIBRARIES:
                (package / name).unlink(missing_ok=True)
            for name, content in own.items():
                (package / name).write_bytes(content)

    return make


def single_file(target: str) -> Callable[[Build], None]:
    """The command as one file that needs no library, on any Linux."""

    def make(build: Build) -> None:
        name = f"maquette-{build.version}-{target.split('-')[0]}-linux"
        shutil.copy(built(build, target, COMMAND) / "maquette", DIST / name)

    return make


def staged(build: Build, target: str) -> Path:
    """What a package has beside what is built, in the folder of that; returns this folder."""
    folder = built(build, target, COMMAND, "maquette-mpi-trace", "maquette-mpi-collectives")
    shutil.rmtree(STAGE, ignore_errors=True)
    (STAGE / "completions").mkdir(parents=True)
    command = folder / "maquette"
    run(command, "manual", STAGE / "man")
    for shell in ("bash", "fish", "zsh"):
        (STAGE / "completions" / shell).write_text(output(command, "completions", shell))
    # The command finds the libraries that it preloads beside itself.
    (STAGE / "maquette").symlink_to("../lib/maquette/maquette")
    return folder


def debian(build: Build) -> None:
    """A package for Debian and Ubuntu, with the units of systemd and the configuration of the store."""
    target = "x86_64-unknown-linux-gnu"
    staged(build, target)
    run("cargo", "deb", "--no-build", "--no-strip", "--locked", "--package", COMMAND, "--target", target,
        "--profile", build.profile, "--output", DIST / f"maquette_{build.version}_amd64.deb")
    shutil.rmtree(STAGE)


def container(build: Build) -> None:
    """An image with the command of one file and nothing else, which is run as nobody in particular."""
    command = builder()
    assert command is not None
    context = STAGE / "container"
    shutil.rmtree(context, ignore_errors=True)
    (context / "data").mkdir(parents=True)
    shutil.copy(built(build, "x86_64-unknown-linux-musl", COMMAND) / "maquette", context / "maquette")
    shutil.copy(ROOT / "packaging" / "store.toml", context / "store.toml")
    # Only images of this format have health checks; docker makes no other.
    chosen = [] if command == "docker" else ["--format", "docker", "--timestamp", os.environ["SOURCE_DATE_EPOCH"]]
    tag = f"maquette:{build.version}"
    run(command, "build", *chosen, "--tag", tag, "--file", ROOT / "packaging" / "Containerfile", context)
    image = DIST / f"maquette-{build.version}-container.tar"
    image.unlink(missing_ok=True)
    if command == "buildah":
        run(command, "push", tag, f"docker-archive:{image}:{tag}")
    else:
        run(command, "save", "--output", image, tag)
    shutil.rmtree(context)


def bill_of_materials(build: Build) -> None:
    """Which packages the command is made of, with their versions and licences, in the format CycloneDX."""
    manifest = ROOT / "crates" / "faces" / "command-line" / "Cargo.toml"
    name = f"maquette-{build.version}.cdx"
    run("cargo", "cyclonedx", "--manifest-path", manifest, "--format", "json", "--spec-version", "1.5",
        "--override-filename", name)
    # It writes one beside the manifest of every package of the workspace, and where that is on this computer.
    for path in ROOT.glob(f"crates/**/{name}.json"):
        if path.parent == manifest.parent:
            (DIST / path.name).write_text(path.read_text().replace(str(ROOT), ""))
        path.unlink()


def parts() -> list[Part]:
    """All that is made, in the order in which it is."""
    zig, processors = ("cargo", "cargo-zigbuild"), ("x86_64", "aarch64")
    wheels = [
        Part(f"wheel-{processor}", f"the package for Python on {processor}, manylinux_{GLIBC.replace('.', '_')}",
             (*zig, "maturin"), f"{processor}-unknown-linux-gnu", wheel(f"{processor}-unknown-linux-gnu"))
        for processor in processors
    ]
    commands = [
        Part(f"command-{processor}", f"the command as one file for {processor}, without MPI", zig,
             f"{processor}-unknown-linux-musl", single_file(f"{processor}-unknown-linux-musl"))
        for processor in processors
    ]
    return [
        Part("sdist", "the sources as a package for Python", ("cargo", "maturin"), None, sdist),
        *wheels,
        *commands,
        Part("debian", "a package for Debian and Ubuntu on x86_64", (*zig, "cargo-deb"),
             "x86_64-unknown-linux-gnu", debian),
        Part("container", "an image of a container for x86_64", zig, "x86_64-unknown-linux-musl", container),
        Part("sbom", "a bill of materials", ("cargo", "cargo-cyclonedx"), None, bill_of_materials),
    ]


def require(chosen: list[Part]) -> None:
    """Refuse to begin without a tool."""
    needed = sorted({tool for part in chosen for tool in part.tools})
    missing = [f"missing: {tool}: {TOOLS[tool]}" for tool in needed if not shutil.which(tool)]
    if missing:
        raise Failed("\n".join(missing))


def sums() -> None:
    """Write the SHA-256 of every file, as `sha256sum --check` reads them."""
    files = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(lines))


def make(names: list[str], profile: str) -> None:
    """Make the parts with these names, or all."""
    known = parts()
    unknown = [name for name in names if name not in {part.name for part in known}]
    if unknown:
        raise Failed(f"--only: found {unknown[0]}; allowed is {', '.join(part.name for part in known)}")
    chosen = [part for part in known if not names or part.name in names]
    require(chosen)
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    build = Build(profile, manifest["workspace"]["package"]["version"])
    # Files carry the time of the commit, and no debug information.
    os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct").strip()
    os.environ.update(CARGO_PROFILE_RELEASE_DEBUG="false", CARGO_PROFILE_RELEASE_STRIP="debuginfo")
    if not names:
        shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True, exist_ok=True)
    skipped = []
    for part in chosen:
        reason = part.is_missing()
        if reason is None:
            print(f"== {part.name}: {part.about}", flush=True)
            part.make(build)
        else:
            skipped.append(f"skipped: {part.name}, {part.about}: {reason}")
    sums()
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(ROOT)}")
    for line in skipped:
        print(line)


def main() -> int:
    """Make what the command line asks for."""
    names = "\n".join(f"  {part.name:<16} {part.about}" for part in parts())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"parts:\n{names}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    only = "make this part; can be given several times"
    parser.add_argument("--only", metavar="PART", action="append", default=[], help=only)
    profile = "cargo's profile: dev builds quickly, to try this out (release)"
    parser.add_argument("--profile", default="release", help=profile)
    arguments = parser.parse_args()
    # The tools of the virtual environment are beside its Python.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        make(arguments.only, arguments.profile)
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
