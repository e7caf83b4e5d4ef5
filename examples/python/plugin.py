"""A protoc plugin that writes messages, types and gRPC stubs into one Python package. The plugin option names the package.

The generators of grpcio-tools work only inside the protoc of grpcio-tools. That protoc would name the package `chess`, like
the package of python-chess.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

request = CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
response = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)

with TemporaryDirectory() as folder:
    descriptors = Path(folder, "descriptors.binpb")
    descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
    outs = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
    failed = protoc.main(["protoc", f"--descriptor_set_in={descriptors}", *outs, *request.file_to_generate])
    if failed:
        sys.exit(failed)
    for file in sorted(Path(folder).rglob("*.py*")):
        content = re.sub(r"^from chess\.", f"from {request.parameter}.chess.", file.read_text(), flags=re.MULTILINE)
        response.file.add(name=file.relative_to(folder).as_posix(), content=content)

sys.stdout.buffer.write(response.SerializeToString())
