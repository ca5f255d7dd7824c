// SPDX-License-Identifier: Apache-2.0
// A repository to serve: its benchmarks are scripts that print their own cost, so no verdict depends on how fast anything runs.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const config = `version: 1
project: costs
benchmarks:
  - { name: bench, command: ./bench, metrics: [ { name: cost, regex: "cost: (\\\\S+)", unit: "1" } ] }
  - { name: endless, command: sleep 1000 }
measure: { schedule: abba, warmup: 0, pairs: { min: 12, max: 12 }, layouts: never, sampler: { enabled: false } }
gate:
  metrics: { cpu_time: { gated: false }, wall_time: { gated: false }, max_rss: { gated: false }, binary_size: { gated: false } }
`;

export class Project {
	constructor() {
		this.base = mkdtempSync(join(tmpdir(), 'fastgate-mcp-'));
		this.folder = join(this.base, 'project');
		this.environment = { PATH: process.env.PATH, HOME: this.base, XDG_CACHE_HOME: join(this.base, 'cache'), GIT_CONFIG_NOSYSTEM: '1' };
		mkdirSync(this.folder);
		writeFileSync(join(this.folder, '.gitignore'), '.fastgate/\n');
		writeFileSync(join(this.folder, 'fastgate.yml'), config);
		this.setCost(100);
		this.git('init', '-q', '-b', 'main', '.');
		this.commit('The baseline');
	}

	git(...words) {
		return execFileSync('git', ['-c', 'user.name=tester', '-c', 'user.email=tester@example.org', ...words],
			{ cwd: this.folder, env: this.environment, encoding: 'utf8' });
	}

	commit(message) {
		this.git('add', '.');
		this.git('commit', '-q', '--allow-empty', '-m', message);
	}

	setCost(cost) {
		writeFileSync(join(this.folder, 'bench'), `#!/bin/sh\necho cost: ${cost}\n`);
		chmodSync(join(this.folder, 'bench'), 0o755);
	}

	remove() {
		rmSync(this.base, { recursive: true, force: true });
	}
}
