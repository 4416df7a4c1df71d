/** Permissions of users to message each other. */
@EverythingIsNonNull
package org.countersign.client.permissions;

import org.countersign.client.internal.EverythingIsNonNull;
