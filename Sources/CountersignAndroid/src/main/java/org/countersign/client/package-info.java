/** A device of a Countersign service: begin with {@link org.countersign.client.Countersign}. */
@EverythingIsNonNull
package org.countersign.client;

import org.countersign.client.internal.EverythingIsNonNull;
