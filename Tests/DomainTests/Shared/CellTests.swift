import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@Suite("An identifier of a cell")
struct CellTests {
    private func cell(_ number: Int) throws -> Cell { try #require(Cell(number)) }

    private static let random: [(number: Int, bytes: [UInt8], text: String)] = [
        (0, [UInt8](repeating: 0, count: 14), "00000000-0000-8000-8000-000000000000"),
        (4095, [UInt8](repeating: 0xFF, count: 14), "ffffffff-ffff-8fff-bfff-ffffffffffff"),
        (0xC47, Array(1...14), "01020304-0506-8c47-8708-090a0b0c0d0e"),
        (1, [0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 1], "00000000-0000-8001-8000-000000000001"),
    ]

    @Test("is random but for version, cell and variant", arguments: random)
    func randomLayout(number: Int, bytes: [UInt8], text: String) throws {
        #expect(UserID(try cell(number).randomID(bytes)).description == text)
    }

    private static let ordered: [(seconds: Double, text: String)] = [
        (0, "00000000-0000-8005-8142-434445464748"), (-1, "00000000-0000-8005-8142-434445464748"),
        (1_800_000_600, "01a31865-77c0-8005-8142-434445464748"),
        (1_800_000_600.5, "01a31865-79b4-8005-8142-434445464748"),
    ]

    @Test("begins with the milliseconds of a time in the layout that is ordered by it", arguments: ordered)
    func orderedLayout(seconds: Double, text: String) throws {
        let id = try cell(5).orderedID(at: Date(timeIntervalSince1970: seconds), Array(0x41...0x48))
        #expect(UserID(id).description == text)
    }

    @Test("comes after those of earlier milliseconds, whatever else is in it")
    func order() throws {
        let (cell, start) = (try cell(4095), 1_800_000_000.0)
        let texts = (0..<1000).map { index in
            let rest = [UInt8](repeating: index % 2 == 0 ? 0xFF : 0, count: 8)
            return UserID(cell.orderedID(at: Date(timeIntervalSince1970: start + Double(index) / 100), rest))
                .description
        }
        #expect(texts == texts.sorted() && Set(texts).count == texts.count)
    }

    @Test("says its cell again, and one of another version says none")
    func readBack() throws {
        for number in [0, 1, 255, 256, 0xC47, 4095] {
            let cell = try cell(number)
            let bytes = (0..<14).map { _ in UInt8.random(in: .min ... .max) }
            #expect(Cell(of: cell.randomID(bytes)) == cell)
            #expect(Cell(of: cell.orderedID(at: Date(), bytes.prefix(8))) == cell)
        }
        #expect(Cell(of: UUID()) == nil)
    }

    @Test("has a number of 12 bits, written in one way")
    func numbers() {
        #expect(Cell("0") == .first && Cell("4095") == Cell(4095) && Cell(17)?.description == "17")
        for text in ["", "-1", "4096", "+1", "01", "1 ", "1.0", "0x1", "\u{661}", "99999999999999999999"] {
            #expect(Cell(text) == nil, "\(text)")
        }
        #expect(Cell(-1) == nil && Cell(4096) == nil)
    }
}
