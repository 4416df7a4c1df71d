/** Streams of messages between users. */
@EverythingIsNonNull
package org.countersign.client.streams;

import org.countersign.client.internal.EverythingIsNonNull;
