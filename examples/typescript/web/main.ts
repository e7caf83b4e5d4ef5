import { createConnectTransport } from "@connectrpc/connect-web";
import { callKibitz } from "../connect.ts";

// Settings come from the address of the page: http://localhost:5173/#service=http://localhost:8080&key=kbz_…
// Browsers do not send the part after # to a server.
const settings = new URLSearchParams(location.hash.slice(1));
const baseUrl = settings.get("service") ?? "http://localhost:8080";
const key = settings.get("key") ?? undefined;
const out = document.querySelector("#out");

try {
  await callKibitz(createConnectTransport({ baseUrl }), key, (line) => out?.append(`${line}\n`));
  document.title = "Done";
} catch (error) {
  out?.append(`${error}\n`);
  document.title = "Failed";
}
