import { render } from "preact";
import "./style/tokens.css";
import "./style/page.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { createPage, PageContext } from "./page.ts";
import { forbidMarkup } from "./parts/forbid-markup.ts";
import { keepFocus } from "./parts/keep-focus.ts";
import { keepInWindow } from "./parts/keep-in-window.ts";

forbidMarkup();
const page = createPage();
page.address.begin();
page.input.listen();
keepFocus();
keepInWindow();
const place = document.querySelector("#page") ?? document.body;
place.replaceChildren();
render(
  <PageContext.Provider value={page}>
    <App />
  </PageContext.Provider>,
  place,
);
