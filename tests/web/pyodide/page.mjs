/** The page that the driver of the tests opens. */

import { offerTasks } from "../tasks.mjs";
import { runHere } from "./browser.mjs";

offerTasks(runHere, new URL("./worker.mjs", import.meta.url));
