/** Reads a response from standard input, and sends this response to every request. Usage: `node echo.ts <port>`. */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

const answer = await buffer(process.stdin);
const headers = { "content-type": "application/json", "content-length": answer.length };

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (typeof JSON.parse(Buffer.concat(chunks).toString("utf8")).fen !== "string") {
      throw new TypeError("no fen");
    }
    response.writeHead(200, headers);
    response.end(answer);
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
