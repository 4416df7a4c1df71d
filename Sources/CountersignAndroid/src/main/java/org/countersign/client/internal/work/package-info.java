/** Threads, and what is done once for all of them. Apps do not use them: they change without notice. */
@EverythingIsNonNull
package org.countersign.client.internal.work;

import org.countersign.client.internal.EverythingIsNonNull;
