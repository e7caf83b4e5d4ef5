"""Makes a call for each line of JSON on stdin: python grpc_probe.py <base URL>"""

import json
import sys
import time
from threading import Timer
from urllib.parse import urlsplit

import grpc
from google.protobuf.descriptor_pool import Default as descriptor_pool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2  # noqa: F401  makes the types of details known
from grpc_status import rpc_status

from kibitz.chess.analysis.v1 import analysis_pb2, analysis_service_pb2, key_service_pb2
from kibitz.chess.analysis.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from kibitz.chess.analysis.v1.key_service_pb2_grpc import KeyServiceStub

REQUESTS = {
    "Evaluate": analysis_pb2.AnalysisRequest,
    "FindBestMove": analysis_pb2.AnalysisRequest,
    "StreamEvaluate": analysis_pb2.AnalysisRequest,
    "GetPrice": analysis_service_pb2.GetPriceRequest,
    "GetKey": key_service_pb2.GetKeyRequest,
    "CreateKey": key_service_pb2.CreateKeyRequest,
}


def obey(channel: grpc.Channel, command: dict) -> dict:
    method = command["method"]
    stub = KeyServiceStub(channel) if method.endswith("Key") else AnalysisServiceStub(channel)
    streams = method.startswith("Stream")
    send = getattr(stub, method) if streams else getattr(stub, method).future
    begin = time.monotonic()
    call = send(
        ParseDict(command["request"], REQUESTS[method]()),
        metadata=list(command.get("metadata", {}).items()),
        timeout=command["deadline_ms"] / 1000 if "deadline_ms" in command else None,
        compression=grpc.Compression.Gzip if command.get("compress") else None,
    )
    timer = Timer(command.get("cancel_after_ms", 0) / 1000, call.cancel)
    if "cancel_after_ms" in command:
        timer.start()
    messages, details = [], []
    try:
        for message in call if streams else [call.result()]:
            messages.append(MessageToDict(message))
            if len(messages) == command.get("cancel_after_messages"):
                call.cancel()
    except grpc.RpcError as error:
        status = rpc_status.from_call(error)
        details = [detail_of(packed) for packed in status.details] if status else []
    except grpc.FutureCancelledError:
        pass
    finally:
        timer.cancel()
    return {
        "code": call.code().name,
        "message": call.details() or "",
        "details": details,
        "headers": fields_of(call.initial_metadata()),
        "trailers": fields_of(call.trailing_metadata()),
        "messages": messages,
        "elapsed_ms": round((time.monotonic() - begin) * 1000),
        "response_encoding": None,
    }


def detail_of(packed) -> dict:
    kind = packed.TypeName()
    detail = GetMessageClass(descriptor_pool().FindMessageTypeByName(kind))()
    packed.Unpack(detail)
    return {"type": kind, "value": MessageToDict(detail)}


def fields_of(metadata) -> dict:
    return {name: value for name, value in metadata or () if isinstance(value, str)}


with grpc.insecure_channel(urlsplit(sys.argv[1]).netloc) as service:
    for line in sys.stdin:
        print(json.dumps(obey(service, json.loads(line))), flush=True)
