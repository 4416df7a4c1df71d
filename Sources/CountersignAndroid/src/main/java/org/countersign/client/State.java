package org.countersign.client;

/** The device's current state at the service. */
public enum State {
    /** It has no valid certificate: call {@link Countersign#certify}. */
    UNCERTIFIED,
    /** It is certified and has no connection. The next call opens one. */
    DISCONNECTED,
    /** It has a connection and no session: call {@link Countersign#signIn}. */
    CONNECTED_UNAUTHENTICATED,
    /** It has a connection and a session. */
    CONNECTED_AUTHENTICATED,
    /** It has a connection. The user must prove the identity again before the next call. */
    CONNECTED_CHALLENGED;

    /** Whether there is a connection to the service. */
    public boolean isConnected() {
        return this != UNCERTIFIED && this != DISCONNECTED;
    }
}
