/** The page that the driver of the tests opens. */

import { run } from "./browser.mjs";
import { offerTasks } from "./tasks.mjs";

offerTasks(run, new URL("./worker.mjs", import.meta.url));
