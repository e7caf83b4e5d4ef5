import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** From where the commands of the documents install packages. */
const registries = [
  "registry.npmjs.org",
  "pypi.org",
  "files.pythonhosted.org",
  "proxy.golang.org",
  "sum.golang.org",
  "storage.googleapis.com",
  "repo.maven.apache.org",
  "repo1.maven.org",
];

/** Runs in the world. Each address there belongs to a registry, and leads to a socket of the test, which is outside. */
const relay = `
const { connect, createServer } = require("node:net");
const [, folder, count] = process.argv;
let open = 0;
for (let at = 1; at <= Number(count); at++) {
  createServer((client) => {
    const outside = connect(folder + "/registry-" + at);
    client.pipe(outside).pipe(client);
    client.on("error", () => outside.destroy());
    outside.on("error", () => client.destroy());
  }).listen(443, "127.1.0." + at, () => ++open === Number(count) && console.log("ready"));
}`;

/**
 * Lets a network without a route reach the registries of packages, by their names and nothing else.
 * @param enter the arguments of `nsenter` for the network
 * @param folder a folder for sockets, which both sides see
 */
export async function openRegistries(
  enter: readonly string[],
  folder: string,
  outside: (path: string) => string,
) {
  const servers = registries.map((name, index) =>
    createServer((client) => {
      const server = connect(443, name);
      client.pipe(server).pipe(client);
      client.on("error", () => server.destroy());
      server.on("error", () => client.destroy());
    }).listen(join(folder, `registry-${index + 1}`)),
  );
  await Promise.all(servers.map((server) => once(server, "listening")));
  const hosts = registries.map((name, index) => `127.1.0.${index + 1} ${name}\n`).join("");
  appendFileSync(outside("/etc/hosts"), hosts);
  const args = [...enter, process.execPath, "-e", relay, folder, String(registries.length)];
  const inside = spawn("nsenter", args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(createInterface(inside.stdout), "line");
  return {
    close() {
      for (const server of servers) {
        server.close();
      }
    },
  };
}
