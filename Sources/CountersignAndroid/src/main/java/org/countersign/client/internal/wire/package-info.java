/** Requests, responses and connections. Apps do not use them: they change without notice. */
@EverythingIsNonNull
package org.countersign.client.internal.wire;

import org.countersign.client.internal.EverythingIsNonNull;
