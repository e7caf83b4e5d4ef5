import { createConnectTransport } from "@connectrpc/connect-node";
import { callKibitz } from "./connect.ts";

const [baseUrl = "http://localhost:8080"] = process.argv.slice(2);

const transport = createConnectTransport({ baseUrl, httpVersion: "2" });
await callKibitz(transport, process.env.KIBITZ_API_KEY, console.log);
