/** Runs one task in a module worker. */

import { answerTasks } from "../tasks.mjs";
import { runHere } from "./browser.mjs";

answerTasks(runHere);
