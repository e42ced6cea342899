"""A real node for the tests: the built binary in a folder of its own, on free ports of the loopback interface."""

from __future__ import annotations

import json
import os
import queue
import random
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]
# For agents in processes of their own.
os.environ["PYTHONPATH"] = str(ROOT / "clients/python/src")
PASSWORD = "correct horse battery staple"
#: The time limit for anything on a loaded machine.
PATIENCE = 60.0

PAYMENTS = """
id = "payments"
display_name = "Payments"

[[actions]]
name = "mail.send"
risk = "low"

[decisions]
own_approval = true
"""


def binary() -> str:
    """The program under test."""
    named, built = os.environ.get("COUNTERSIGN_BINARY"), ROOT / "target/debug/countersign"
    if named or built.exists():
        return named or str(built)
    pytest.exit("no countersign binary: set COUNTERSIGN_BINARY, or run `cargo build -p countersign`", 2)


def free_port() -> int:
    """A port for listeners that come back after a kill: below those that connections get by themselves."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def eventually(condition: Callable[[], object], what: str) -> object:
    """Waits, bounded, until the condition holds."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail(f"{what} did not happen within {PATIENCE:.0f} s")


class Background:
    """Work that waits for a person, while the test is that person."""

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self._done: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue()
        threading.Thread(target=self._run, args=(work, arguments), daemon=True).start()

    def _run(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            self._done.put((work(*arguments), None))
        except BaseException as why:  # The test decides what it expects.
            self._done.put((None, why))

    def result(self) -> Any:
        result, why = self._done.get(timeout=PATIENCE)
        if why is not None:
            raise why
        return result


in_background = Background


class Folder:
    """A folder in which the binary runs with an empty environment."""

    def __init__(self, path: Path, project: str = PAYMENTS, config: str = "") -> None:
        self.path = path
        self.environment = {"COUNTERSIGN_PASSWORD": PASSWORD}
        if config:
            (path / "countersign.toml").write_text(config)
        self.does("init")
        (path / "project.toml").write_text(project)
        self.does("project apply project.toml")

    def does(self, arguments: str, *more: str) -> str:
        command = [binary(), *arguments.split(), *more]
        ran = subprocess.run(
            command, cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert ran.returncode == 0, f"{arguments}: {ran.stderr}"
        return ran.stdout

    def json(self, arguments: str) -> dict:
        return json.loads(self.does(f"{arguments} --json"))


class Node:
    """A running node. `kill` is a power failure with an intact file system."""

    def __init__(self, folder: Folder, gateway: bool = False, **environment: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **folder.environment,
            "COUNTERSIGN_LISTEN__PUBLIC": f"127.0.0.1:{self.port}",
            "COUNTERSIGN_LISTEN__OPERATIONS": "127.0.0.1:0",
            "COUNTERSIGN_PUBLIC__ORIGIN": self.origin,
            **environment,
        }
        if gateway:
            self.gateway_port = free_port()
            self.gateway = f"http://127.0.0.1:{self.gateway_port}"
            self.environment["COUNTERSIGN_GATEWAY__LISTEN"] = f"127.0.0.1:{self.gateway_port}"
        self.start()

    def start(self) -> None:
        with open(self.folder.path / "log", "ab") as log:
            self.process = subprocess.Popen(
                [binary(), "serve"],
                cwd=self.folder.path,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(self._is_up, "the start of the node")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _is_up(self) -> bool:
        assert self.process.poll() is None, (self.folder.path / "log").read_text()
        try:
            return httpx.get(f"{self.origin}/.well-known/aaep-manifest.json").status_code == 200
        except httpx.TransportError:
            return False


class Stage:
    """A node, alice who answers, and the key of an agent."""

    def __init__(self, folder: Folder, node: Node, token: str, key: str) -> None:
        self.folder, self.node, self.token, self.key = folder, node, token, key

    @property
    def origin(self) -> str:
        return self.node.origin

    def questions(self) -> list[dict]:
        """The pending questions of alice."""
        answer = httpx.get(f"{self.origin}/aaep/v1/questions", headers={"authorization": f"Bearer {self.token}"})
        return answer.raise_for_status().json()["questions"]

    def asked(self) -> str:
        """The id of the one pending question, as soon as there is one."""
        question = eventually(self.questions, "a question")[0]
        return question["decision_id"]

    def answers(self, decision_id: str, answer: str, *more: str) -> None:
        """alice approves or rejects at her terminal."""
        self._inbox("answer", decision_id, answer, *more)

    def responds(self, decision_id: str, text: str) -> None:
        """alice answers a question in words."""
        self._inbox("respond", decision_id, text)

    def _inbox(self, *words: str) -> None:
        service = {"COUNTERSIGN_SERVICE": self.origin, "COUNTERSIGN_TOKEN": self.token}
        command = [binary(), "inbox", *words]
        ran = subprocess.run(
            command, cwd=self.folder.path, env=service, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="session")
def alices_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, str]]:
    folder = Folder(tmp_path_factory.mktemp("stage"))
    folder.does("user add alice --role approver --role user")
    token = folder.json("token add --person alice --name phone")["secret"]
    node = Node(folder)
    yield node, token
    node.kill()


@pytest.fixture(scope="module")
def stage(alices_node: tuple[Node, str], request: pytest.FixtureRequest) -> Stage:
    """The node of all modules, with an agent for each: rejections and questions count by agent."""
    node, token = alices_node
    principal = request.module.__name__
    key = f"key add --kind agent --principal {principal} --responsible alice --action mail.send"
    return Stage(node.folder, node, token, node.folder.json(key)["secret"])
