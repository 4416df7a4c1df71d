/** Where keys and secrets are stored. */
@EverythingIsNonNull
package org.countersign.client.store;

import org.countersign.client.internal.EverythingIsNonNull;
