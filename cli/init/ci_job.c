// SPDX-License-Identifier: Apache-2.0
#include "cli/init/project.h"

/* clang-format off: the files line by line */
static const char github[] =
	"# The performance gate of fastgate.yml. Pull requests are compared with their merge "
	"base;\n"
	"# pushes to the default branch are recorded for the trend.\n"
	"name: performance\n"
	"on:\n"
	"  pull_request:\n"
	"  push: { branches: [main, master] }\n"
	"permissions:\n"
	"  contents: read\n"
	"  # pull-requests: write      # for report.post: [ { github: pull-request-comment } ]\n"
	"concurrency:\n"
	"  group: performance-${{ github.ref }}\n"
	"  cancel-in-progress: ${{ github.event_name == 'pull_request' }}\n"
	"jobs:\n"
	"  performance:\n"
	"    runs-on: ubuntu-24.04\n"
	"    timeout-minutes: 60\n"
	"    steps:\n"
	"      - uses: actions/checkout@v4\n"
	"        with: { fetch-depth: 0, submodules: recursive, persist-credentials: false }\n"
	"      # - run: sudo apt-get install -y ...    # what build.command of fastgate.yml "
	"needs\n"
	"      # The action keeps its store in the cache, and the reports as an artifact.\n"
	"      - uses: OWNER/fastgate@v1.0.0           # the repository where you keep fastgate\n";

static const char gitlab[] =
	"# The performance gate of fastgate.yml: include this file in .gitlab-ci.yml. Merge "
	"requests are\n"
	"# compared with their merge base; the default branch is recorded for the trend.\n"
	"# The first job has no secrets, because programs under test can read them. Give PERFDB_URL,\n"
	"# PERFDB_TOKEN and GITLAB_TOKEN the environment scope \"fastgate\": only the second job "
	"gets them.\n"
	"performance:\n"
	"  stage: test\n"
	"  image: registry.example.org/fastgate        # an image with fastgate and the build "
	"tools\n"
	"  timeout: 1h\n"
	"  variables:\n"
	"    GIT_DEPTH: 0                              # the commit to compare with must be fetched\n"
	"    GIT_SUBMODULE_STRATEGY: recursive\n"
	"  rules:\n"
	"    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n"
	"      variables: { FASTGATE_AGAINST: merge-base }\n"
	"    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n"
	"  cache:\n"
	"    key: fastgate-$CI_COMMIT_REF_SLUG\n"
	"    fallback_keys: [fastgate-$CI_DEFAULT_BRANCH]\n"
	"    paths: [.fastgate/store.db]\n"
	"  script:\n"
	"    - fastgate doctor --quiet || true\n"
	"    - >-\n"
	"      fastgate run --no-post --export run.fgrun ${FASTGATE_AGAINST:+--against "
	"\"$FASTGATE_AGAINST\"}\n"
	"      --set report.junit=fastgate.xml --set report.gitlab=metrics.txt\n"
	"      --set report.html=fastgate.html --set report.json=fastgate.json\n"
	"  artifacts:\n"
	"    when: always\n"
	"    paths: [fastgate.html, fastgate.json, run.fgrun, .fastgate/spool]\n"
	"    reports: { junit: fastgate.xml, metrics: metrics.txt }\n"
	"  allow_failure:\n"
	"    exit_codes: [3]                           # inconclusive, with gate.inconclusive: fail\n"
	"performance-send:\n"
	"  stage: .post\n"
	"  image: registry.example.org/fastgate\n"
	"  needs: [performance]\n"
	"  environment: { name: fastgate, action: access }\n"
	"  rules:\n"
	"    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n"
	"      when: always                            # post regressions as well\n"
	"    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n"
	"      when: always\n"
	"  script:\n"
	"    - fastgate push --when-possible run.fgrun   # to PERFDB_URL; without a server it only "
	"warns\n"
	"    - fastgate report --post-from fastgate.json\n";

static const char jenkins[] =
	"// The performance gate of fastgate.yml. A change request is compared with its merge "
	"base.\n"
	"pipeline {\n"
	"  agent { label 'linux' }                     // with fastgate and the tools of the "
	"build\n"
	"  options { timeout(time: 1, unit: 'HOURS') }\n"
	"  stages {\n"
	"    stage('performance') {\n"
	"      steps {\n"
	"        script {\n"
	"          def against = env.CHANGE_TARGET ? '--against merge-base' : ''\n"
	"          def code = sh(returnStatus: true, script: \"\"\"\n"
	"            fastgate run --no-post --export run.fgrun ${against} --set "
	"report.junit=fastgate.xml \\\\\n"
	"              --set report.html=fastgate.html --set report.json=fastgate.json\n"
	"          \"\"\")\n"
	"          if (code == 3) unstable('inconclusive')\n"
	"          else if (code != 0) error(\"fastgate ended with exit code ${code}\")\n"
	"        }\n"
	"      }\n"
	"      post {\n"
	"        always {\n"
	"          junit testResults: 'fastgate.xml', allowEmptyResults: true\n"
	"          archiveArtifacts artifacts: 'fastgate.html', allowEmptyArchive: true\n"
	"          // Use secrets only here: in the steps above, programs under test could read "
	"them.\n"
	"          // withCredentials([string(credentialsId: 'perfdb', variable: "
	"'PERFDB_TOKEN')]) {\n"
	"          //   sh 'PERFDB_URL=https://perfdb.example.org fastgate push --when-possible "
	"run.fgrun'\n"
	"          //   sh 'fastgate report --post-from fastgate.json'\n"
	"          // }\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";
/* clang-format on */

static const struct fg_project_ci rows[] = {
	{
		.name = "github",
		.path = ".github/workflows/performance.yml",
		.text = github,
		.next = "replace OWNER/fastgate with the repository where you keep fastgate, and "
			"add the packages that the build needs",
	},
	{
		.name = "gitlab",
		.path = "performance.gitlab-ci.yml",
		.text = gitlab,
		.next = "set the image, and add `include: performance.gitlab-ci.yml` to "
			".gitlab-ci.yml",
	},
	{
		.name = "jenkins",
		.path = "Jenkinsfile.performance",
		.text = jenkins,
		.next = "set the agent, and create a multibranch pipeline from this file",
	},
};

const struct fg_project_ci *fg_project_ci_find(const char *name)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}
