// SPDX-License-Identifier: Apache-2.0
// The self-contained report: the page contains its data.

import { showComparison } from './compare.js';

showComparison(document.getElementById('page'), JSON.parse(document.getElementById('data').textContent));
