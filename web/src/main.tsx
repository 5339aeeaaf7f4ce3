import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/carbon.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
