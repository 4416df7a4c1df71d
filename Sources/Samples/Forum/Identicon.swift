import Crypto
import Foundation

/// A picture of a title: five by five squares, symmetric, from its SHA-256.
struct Identicon {
    private let hash: [UInt8]

    init(_ title: String) { hash = Array(SHA256.hash(data: Data(title.utf8))) }

    var svg: String {
        var squares = ""
        for row in 0..<5 {
            for column in 0..<3 where hash[row * 3 + column] & 1 == 1 {
                for x in Set([column, 4 - column]).sorted() {
                    squares += #"<rect x="\#(x)" y="\#(row)" width="1" height="1"/>"#
                }
            }
        }
        let hue = Int(hash[20]) * 360 / 256
        let shape = #"viewBox="-0.5 -0.5 6 6" fill="hsl(\#(hue) 55% 45%)""#
        return #"<svg xmlns="http://www.w3.org/2000/svg" \#(shape)>\#(squares)</svg>"#
    }
}
