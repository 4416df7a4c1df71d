package org.countersign.client.user;

import java.time.Instant;
import java.util.UUID;

/** A certified device. */
public final class Device {
    private final UUID id;
    private final String serial;
    private final Instant notAfter;
    private final Instant renewAfter;

    public Device(UUID id, String serial, Instant notAfter, Instant renewAfter) {
        this.id = id;
        this.serial = serial;
        this.notAfter = notAfter;
        this.renewAfter = renewAfter;
    }

    /** The device's id at the service, the certificate's common name. */
    public UUID id() {
        return id;
    }

    /** The certificate's serial number, hexadecimal. */
    public String serial() {
        return serial;
    }

    /** The end of the certificate. */
    public Instant notAfter() {
        return notAfter;
    }

    /** The time from which the certificate renews by itself. */
    public Instant renewAfter() {
        return renewAfter;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Device)) return false;
        Device device = (Device) other;
        return id.equals(device.id) && serial.equals(device.serial) && notAfter.equals(device.notAfter)
            && renewAfter.equals(device.renewAfter);
    }

    @Override
    public int hashCode() {
        return serial.hashCode();
    }

    @Override
    public String toString() {
        return "device " + id;
    }
}
