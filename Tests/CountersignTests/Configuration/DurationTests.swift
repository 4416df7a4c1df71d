import Domain
import Encoding
import Foundation
import Testing

@testable import countersign

@Suite("A duration")
struct DurationTests {
    @Test("is a number with its unit, and nothing else")
    func units() {
        #expect(PolicyField.seconds("100ms") == 0.1)
        #expect(PolicyField.seconds("90s") == 90)
        #expect(PolicyField.seconds("1.5m") == 90)
        #expect(PolicyField.seconds("2h") == 7200)
        #expect(PolicyField.seconds("30d") == 2_592_000)
        for text in ["", "30", "0", "1.5", "s", ".5s", "5.s", "-5s", "5 s", "5S", "5w", "5s ", "٣s", "1e3s"] {
            #expect(PolicyField.seconds(text) == nil, "\(text)")
        }
    }

    @Test("is refused in a policy without its unit, and shown as the file may have it")
    func policies() throws {
        var count = 0
        for area in PolicyArea.all {
            for field in area.fields where field.written(Policy()) != field.value(Policy()).jsonText {
                count += 1
                let directory = try TemporaryDirectory()
                let file = URL(filePath: directory.path + "/\(area.name).yaml")
                try Data("\(field.key): \(field.written(Policy()))\n".utf8).write(to: file)
                #expect(try PolicyFiles.load(directory: directory.path, required: true) == Policy(), "\(field.key)")
                try Data("\(field.key): \(field.value(Policy()).jsonText)\n".utf8).write(to: file)
                let defects = PolicyFiles.read(directory: directory.path, required: true).defects
                #expect(defects.map(\.key) == [field.key], "\(field.key)")
                #expect(defects.first?.expected.contains("with its unit") == true, "\(field.key)")
            }
        }
        #expect(count > 40)
    }
}
