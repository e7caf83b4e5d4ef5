import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accepts, type HaproxyOptions, startHaproxy } from "../../tools/cluster/companions.ts";
import { type Program, startProgram } from "../../tools/cluster/programs.ts";
import { freePort } from "../support/free-port.ts";
import { pathOf } from "./deploy-tools.ts";

export interface Balanced extends AsyncDisposable {
  readonly url: string;
  /** Some balancers use another port for HTTP/2. */
  readonly http2Url: string;
}

export interface Balancer {
  readonly name: string;
  /** Bytes. The balancer does not retry a larger gRPC request after a node has failed. */
  readonly grpcBodyMax: number;
  /** After a node has stopped, calls may fail for this number of milliseconds. */
  readonly mayFailMs: number;
  start(nodes: HaproxyOptions["nodes"], folder: string): Promise<Balanced>;
}

/** A gRPC message of 64 KiB with its prefix of 5 bytes. */
const largestCall = 65_541;

const haproxy: Balancer = {
  name: "HAProxy",
  grpcBodyMax: largestCall,
  mayFailMs: 0,
  async start(nodes) {
    const bind = `127.0.0.1:${await freePort()}`;
    return balanced(await startHaproxy({ nodes, bind }), bind);
  },
};

const nginx: Balancer = {
  name: "nginx",
  grpcBodyMax: 32_768,
  mayFailMs: 0,
  async start(nodes, folder) {
    const [http1, http2] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const config = writeConfig(folder, "nginx/nginx.conf", [
      ...nodes.map((node, at) => [`server node${at + 1}:8080`, `server ${node}`] as const),
      ["listen 8080", `listen ${http1}`],
      ["listen 8081", `listen ${http2}`],
      ["/tmp/nginx-kibitz", `${folder}/nginx`],
    ]);
    const program = await startProgram("nginx", ["-c", config, "-e", "stderr", "-g", "daemon off;"], {
      isReady: () => accepts(http2),
    });
    return balanced(program, http1, http2);
  },
};

const envoy: Balancer = {
  name: "Envoy",
  grpcBodyMax: largestCall,
  // Envoy excludes a node after three failed probes, one per second. A probe may take a second. Fewer probes would exclude all
  // nodes during an overload.
  mayFailMs: 6000,
  async start(nodes, folder) {
    const port = await freePort();
    const config = writeConfig(folder, "envoy/envoy.yaml", [
      ...nodes.map((node, at) => {
        const { hostname, port } = new URL(`http://${node}`);
        return [
          `{ address: node${at + 1}, port_value: 8080 }`,
          `{ address: ${hostname}, port_value: ${port} }`,
        ] as const;
      }),
      ["{ address: 0.0.0.0, port_value: 8080 }", `{ address: 127.0.0.1, port_value: ${port} }`],
    ]);
    const args = ["-c", config, "--log-level", "error", "--concurrency", "1", "--use-dynamic-base-id"];
    const program = await startProgram(pathOf("envoy"), args, {
      isReady: () => accepts(`127.0.0.1:${port}`),
    });
    return balanced(program, `127.0.0.1:${port}`);
  },
};

/** The balancers use their configuration from `deploy/`, with other addresses and ports. */
export const balancers = { haproxy, nginx, envoy };

function writeConfig(
  folder: string,
  file: string,
  replacements: readonly (readonly [from: string, to: string])[],
): string {
  let text = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), "utf8");
  for (const [from, to] of replacements) {
    if (!text.includes(from)) {
      throw new Error(`deploy/${file} has no ${from}`);
    }
    text = text.replaceAll(from, to);
  }
  const path = join(folder, file.replace("/", "-"));
  writeFileSync(path, text);
  return path;
}

function balanced(program: Program, http1: string, http2 = http1): Balanced {
  return {
    url: `http://${http1}`,
    http2Url: `http://${http2}`,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
