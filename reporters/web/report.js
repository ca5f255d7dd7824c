// SPDX-License-Identifier: Apache-2.0
// The self-contained report: its data stands in the page.

import { showComparison } from './compare.js';

showComparison(document.getElementById('page'), JSON.parse(document.getElementById('data').textContent));
