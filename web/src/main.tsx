import { render } from "preact";
import "./style/tokens.css";
import "./style/page.css";
import "./style/shell.css";
import { followAddress } from "./address.ts";
import { App } from "./app.tsx";
import { forbidMarkup } from "./parts/forbid-markup.ts";
import { keepFocus } from "./parts/keep-focus.ts";
import { takeFromPage } from "./pasted.ts";

forbidMarkup();
followAddress();
takeFromPage();
keepFocus();
const place = document.querySelector("#page") ?? document.body;
place.replaceChildren();
render(<App />, place);
