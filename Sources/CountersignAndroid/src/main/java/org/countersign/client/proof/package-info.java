/** The proof of a phone number and of an identity. */
@EverythingIsNonNull
package org.countersign.client.proof;

import org.countersign.client.internal.EverythingIsNonNull;
