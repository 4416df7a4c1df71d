import Domain
import Foundation
import Testing

@testable import Operations

@Suite("The subject of a push")
struct PushSubjectTests {
    @Test("is read as it was written, and nothing else is one")
    func subjects() throws {
        let subject = PushSubject("stream", "ring", for: DeviceID(UUID()))
        #expect(PushSubject(subject.text, words: 2) == subject)
        for (text, words) in [(subject.text, 1), (subject.text, 3), ("stream ring device", 2), ("", 0)] {
            #expect(PushSubject(text, words: words) == nil)
        }
    }
}
