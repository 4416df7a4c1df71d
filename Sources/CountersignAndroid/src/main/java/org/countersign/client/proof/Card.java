package org.countersign.client.proof;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.countersign.client.internal.wire.Text;

/** The content read from a card. */
public final class Card {
    final Map<String, String> members;

    private Card(String name, String value) {
        members = Collections.singletonMap(name, value);
    }

    /** The text of the barcode of a driver's licence (AAMVA, PDF417), with its line feeds. */
    public static Card aamva(String text) {
        return new Card("aamva", Text.base64Url(Text.utf8(text)));
    }

    /** The lines of a machine-readable zone (ICAO 9303). */
    public static Card mrz(String... lines) {
        return mrz(Arrays.asList(lines));
    }

    /** The lines of a machine-readable zone (ICAO 9303). */
    public static Card mrz(List<String> lines) {
        return new Card("mrz", String.join("\n", lines));
    }
}
