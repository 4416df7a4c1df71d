/** What belongs to a user: device, session, proven data, apps and pushes. */
@EverythingIsNonNull
package org.countersign.client.user;

import org.countersign.client.internal.EverythingIsNonNull;
