#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples/perfdb/Containerfile without a container engine: container.sh BUILD_FOLDER SECONDS  (the seconds are not looked at)
exec python3 "$(dirname "$0")/container.py"
