import { createConnectTransport } from "@connectrpc/connect-web";
import { askKibitz } from "../connect.ts";

// http://localhost:5173/#service=http://localhost:8080&key=kbz_…: what follows # stays in the browser.
const settings = new URLSearchParams(location.hash.slice(1));
const baseUrl = settings.get("service") ?? "http://localhost:8080";
const key = settings.get("key") ?? undefined;
const out = document.querySelector("#out");

try {
  await askKibitz(createConnectTransport({ baseUrl }), key, (line) => out?.append(`${line}\n`));
  document.title = "Done";
} catch (error) {
  out?.append(`${error}\n`);
  document.title = "Failed";
}
