/** Runs one task in a module worker. */

import { run } from "./browser.mjs";
import { answerTasks } from "./tasks.mjs";

answerTasks(run);
