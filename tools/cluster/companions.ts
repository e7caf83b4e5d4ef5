import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { redisServer } from "../../test/support/start-redis.ts";
import { type Program, startProgram } from "./programs.ts";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));

export interface HaproxyOptions {
  /** Where the nodes are: `127.0.0.1:8081`. */
  readonly nodes: readonly [string, string, string];
  readonly bind: string;
  /** Instead of the one in `deploy/haproxy/`. */
  readonly config?: string;
  /** Where its state can be asked: the path of a socket. */
  readonly socket?: string;
  readonly onLine?: (line: string) => void;
}

/** HAProxy with the configuration that operators copy. */
export function startHaproxy({
  nodes: [NODE1, NODE2, NODE3],
  bind,
  config = `${deploy}haproxy/haproxy.cfg`,
  socket = "",
  onLine,
}: HaproxyOptions): Promise<Program> {
  return startProgram("haproxy", ["-db", "-f", config], {
    env: { NODE1, NODE2, NODE3, BALANCER_BIND: bind, BALANCER_SOCKET: socket },
    ...(onLine && { onLine }),
    isReady: () => accepts(bind),
  });
}

/** A Redis that keeps nothing on disk. */
export function startRedis(port: number, host = "127.0.0.1"): Promise<Program> {
  const where = ["--bind", host, "--port", String(port), "--protected-mode", "no"];
  return startProgram(redisServer, [...where, "--save", "", "--appendonly", "no"], {
    isReady: () => accepts(`${host}:${port}`),
  });
}

/** Whether something listens there. */
export async function accepts(address: string): Promise<boolean> {
  const at = address.lastIndexOf(":");
  const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
  return new Promise((resolve) => {
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
  }).then((is) => {
    socket.destroy();
    return is === true;
  });
}
