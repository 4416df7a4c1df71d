import Foundation

/// The address of a tour's device and the phone number of its user. Both are random, as those of real users are, so
/// that repeated tours stay within the service's limits.
enum TourPlace {
    /// Area codes of the United States. In each, 555-0100 to 555-0199 are fictional (ATIS-0300115), so no text of a
    /// tour can reach a person.
    static let areaCodes =
        """
        201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240 248 251 252 253 \
        254 256 260 262 267 269 270 276 281 301 302 303 304 307 308 309 310 312 313 314 315 316 317 318 319 320 321 323 330 \
        331 334 336 337 339 347 351 352 360 361 386 401 402 404 405 406 407 408 409 410 412 413 414 415 417 419 423 424 425 \
        432 434 435 440 443 458 469 478 479 480 484 501 502 503 504 507 508 509 510 512 513 515 516 517 518 520 530 540 541 \
        551 559 561 562 563 567 570 571 573 574 575 580 585 586 601 602 603 605 606 607 608 609 610 612 614 615 616 617 618 \
        619 620 623 626 630 631 636 641 646 650 651 660 661 662 678 682 701 702 703 704 706 707 708 712 713 714 715 716 717 \
        718 719 720 724 727 731 732 734 740 754 757 760 763 765 770 772 773 774 775 781 785 786 801 802 803 804 805 806 808 \
        810 812 813 814 815 816 817 818 828 830 831 832 843 845 847 848 850 856 857 858 859 860 862 863 864 865 870 901 903 \
        904 906 907 908 909 910 912 913 914 915 916 917 918 919 920 925 928 931 936 937 940 941 947 949 951 952 954 956 970 \
        971 972 973 978 979 980 985 989
        """.split(separator: " ").map(String.init)

    static func phoneNumber() -> String {
        "+1\(areaCodes.randomElement() ?? "415")55501\(Int.random(in: 0...9))\(Int.random(in: 0...9))"
    }

    /// A loopback address to connect from, if service and provider are on this machine: all of 127.0.0.0/8 works (RFC
    /// 1122 §3.2.1.3). `nil` if one of them is elsewhere; then the machine's own address is used.
    static func address(reaching urls: [String]) -> String? {
        let hosts = urls.map { URL(string: $0)?.host ?? "" }
        guard hosts.allSatisfy({ $0.hasPrefix("127.") && ListenAddress("\($0):1") != nil }) else { return nil }
        return "127.\(Int.random(in: 1...254)).\(Int.random(in: 1...254)).\(Int.random(in: 1...254))"
    }
}
