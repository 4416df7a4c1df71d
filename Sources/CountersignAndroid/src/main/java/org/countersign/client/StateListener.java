package org.countersign.client;

/** Gets the state of a device, and every later one. */
public interface StateListener {
    /** The state when the listener was added, or a changed one. Calls come one after another, in order. */
    void onStateChanged(State state);
}
