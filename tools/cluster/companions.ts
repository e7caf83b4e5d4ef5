import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { type Program, startProgram } from "./programs.ts";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));

export interface HaproxyOptions {
  /** The addresses of the nodes, for example `127.0.0.1:8081`. */
  readonly nodes: readonly [string, string, string];
  readonly bind: string;
  readonly config?: string;
  readonly socket?: string;
  readonly onLine?: (line: string) => void;
}

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
