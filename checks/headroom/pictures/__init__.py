"""Draw pictures from data: one module per kind, and the data of each picture in checks/pictures/."""
