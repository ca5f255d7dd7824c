/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the host: processor, kernel, memory, virtualisation, container, frequency policy,
 * load.
 *
 * Identity facts are coarse on purpose, such as the processor's model and the kernel's series: they
 * make up the fingerprint, and a fingerprint that changes with every reboot or every machine of a
 * pool would split all histories.
 *
 * Everything is read below `root` ("" for this host), so that tests can imitate a host.
 */
#ifndef FG_RUNNER_HOST_H
#define FG_RUNNER_HOST_H

#include "base/base.h"
#include "model/environment.h"

/* Facts that the host does not reveal are left out. */
void fg_host_capture(const char *root, struct fg_environment *host);

/*
 * Reads the first line of a file below the root, without its newline. Returns false if the file
 * does not exist.
 */
bool fg_host_line(const char *root, const char *path, char *line, size_t size);
/* Returns the contents of a small file, which the caller frees; NULL if it does not exist. */
char *fg_host_text(const char *root, const char *path);
/* Returns the number of CPUs in a list such as "0-3,8,10-11"; 0 if it is not a list. */
unsigned fg_host_count_cpu_list(const char *list);
/* Returns the CPU time that the control group allows, in CPUs; 0: no known limit. */
double fg_host_cpu_quota(const char *root);
/* Returns the share of CPU time stolen by the hypervisor since boot; NaN: unknown. */
double fg_host_steal_since_boot(const char *root);
/* Returns "none", "kvm", "vmware", ...; "virtual machine" if the hypervisor is unknown. */
const char *fg_host_virtualization(const char *root);
/* Returns "docker", "podman", "kubernetes", "lxc" or "systemd-nspawn"; NULL: none detected. */
const char *fg_host_container(const char *root);
/* Returns the state of turbo, "on" or "off"; NULL if the host does not reveal it. */
const char *fg_host_turbo(const char *root);

#endif
