/** The parts of the client. Apps do not use them: they change without notice. */
@EverythingIsNonNull
package org.countersign.client.internal;

import org.countersign.client.internal.EverythingIsNonNull;
