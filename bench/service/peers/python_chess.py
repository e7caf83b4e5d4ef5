"""python-chess behind FastAPI: engines in a queue, each with one caller at a time. The engines keep their hash.

    python python_chess.py <port> <engines> <MiB of hash> <command of the engine...>

Needs: pip install chess fastapi "uvicorn[standard]"
"""

import asyncio
import sys
from contextlib import asynccontextmanager

import chess
import chess.engine
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

port, engine_count, hash_mb, *command = sys.argv[1:]
idle: asyncio.Queue[chess.engine.UciProtocol] = asyncio.Queue()


@asynccontextmanager
async def lifespan(_: FastAPI):
    for _ in range(int(engine_count)):
        _, engine = await chess.engine.popen_uci(command)
        await engine.configure({"Threads": 1, "Hash": int(hash_mb), "UCI_ShowWDL": True})
        idle.put_nowait(engine)
    yield
    while not idle.empty():
        await idle.get_nowait().quit()


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    fen: str
    depth: int


@app.post("/")
async def evaluate(question: Question):
    board = chess.Board(question.fen)
    engine = await idle.get()
    try:
        info = await engine.analyse(board, chess.engine.Limit(depth=question.depth))
    finally:
        idle.put_nowait(engine)
    score = info["score"].white()
    pv = [move.uci() for move in info.get("pv", [])]
    return {"cp": score.score(), "mate": score.mate(), "bestmove": pv[0] if pv else None, "pv": pv}


uvicorn.run(app, host="127.0.0.1", port=int(port))
