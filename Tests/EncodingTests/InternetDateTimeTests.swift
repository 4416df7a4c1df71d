import Encoding
import Foundation
import Testing

@Suite("A time in the form of RFC 3339")
struct InternetDateTimeTests {
    @Test("is read as it is written, with or without a fraction")
    func read() {
        for seconds in [0.0, 951_782_400, 1_800_000_000, 253_402_300_799, -1, -62_135_596_800] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(Date(rfc3339: date.rfc3339) == date, "\(seconds)")
        }
        #expect(Date(rfc3339: "1970-01-01T00:00:01.999Z") == Date(timeIntervalSince1970: 1))
    }

    @Test("is refused if it is not a time of UTC, or not one of the calendar")
    func refused() {
        for text in [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+00:00", "1970-01-01t00:00:00Z",
            "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.1xZ", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00ZZ",
        ] {
            #expect(Date(rfc3339: text) == nil, "\(text)")
        }
    }
}
